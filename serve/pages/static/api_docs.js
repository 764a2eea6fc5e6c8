"use strict";
// Renders openapi.json. Text is only ever set as text, so nothing in the document can become markup.
(() => {
  const METHODS = ["get", "post", "put", "patch", "delete"];
  const SENDABLE = ["get", "post"];
  const LONGEST = 100_000;
  const JSON_TYPE = "application/json";
  const FORM_TYPE = "multipart/form-data";

  const element = (tag, attributes = {}, ...children) => {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
    return made;
  };
  const referenceName = (schema) => schema.$ref?.split("/").at(-1);

  // A type as nodes: names of schemas are links to them.
  const typeOf = (schema) => {
    if (!schema) return ["any"];
    const name = referenceName(schema);
    if (name) return [element("a", { href: `#schema-${name}` }, name)];
    const choices = schema.anyOf ?? schema.oneOf;
    if (choices) return choices.flatMap((one, index) => (index ? [" or ", ...typeOf(one)] : typeOf(one)));
    if (schema.allOf?.length === 1) return typeOf(schema.allOf[0]);
    if (schema.const !== undefined) return [JSON.stringify(schema.const)];
    if (schema.enum) return [schema.enum.map((one) => JSON.stringify(one)).join(" | ")];
    if (schema.type === "array") return ["list of ", ...typeOf(schema.items)];
    if (schema.contentMediaType === "application/octet-stream" || schema.format === "binary") return ["file"];
    return [[schema.type ?? "any"].flat().join(" or ")];
  };
  const LIMITS = {
    minimum: "≥", exclusiveMinimum: ">", maximum: "≤", exclusiveMaximum: "<", minLength: "length ≥",
    maxLength: "length ≤", minItems: "items ≥", maxItems: "items ≤", maxProperties: "entries ≤",
  };
  const limitsOf = (schema) => {
    const all = [schema, ...(schema.anyOf ?? [])];
    const limits = all.flatMap((one) =>
      Object.entries(LIMITS).filter(([name]) => one[name] !== undefined).map(([name, sign]) => `${sign} ${one[name]}`));
    if (schema.default !== undefined && schema.default !== null) limits.push(`default ${JSON.stringify(schema.default)}`);
    return limits.join(", ");
  };
  const table = (label, rows) =>
    element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label },
      element("table", {},
        element("thead", {}, element("tr", {},
          element("th", { scope: "col" }, "name"), element("th", { scope: "col", class: "words" }, "type"),
          element("th", { scope: "col", class: "words" }, "description"))),
        element("tbody", {}, ...rows.map(({ name, schema, required, description }) =>
          element("tr", {},
            element("th", { scope: "row" }, element("code", {}, name), required ? " *" : ""),
            element("td", { class: "words", "data-name": "type" }, ...typeOf(schema),
              element("div", { class: "rest" }, limitsOf(schema))),
            element("td", { class: "words", "data-name": "description" }, description ?? schema.description ?? schema.anyOf?.find((choice) => choice.description)?.description ?? ""))))));
  const properties = (schema) =>
    Object.entries(schema.properties ?? {}).map(([name, one]) =>
      ({ name, schema: one, required: schema.required?.includes(name) }));

  const bodyOf = (operation) => {
    const content = operation.requestBody?.content ?? {};
    const type = Object.keys(content)[0];
    return type ? { type, ...content[type] } : null;
  };
  const exampleOf = (body, schemas) => {
    const shown = Object.values(body.examples ?? {})[0]?.value;
    const schema = schemas[referenceName(body.schema)] ?? body.schema;
    return shown ?? schema?.examples?.[0] ?? {};
  };

  const input = (id, name, schema, required) => {
    const isFile = typeOf(schema)[0] === "file";
    const field = element("input", { id, name, type: isFile ? "file" : "text", ...(required ? { required: "" } : {}) });
    return element("label", { class: "field" }, element("code", {}, name, required ? " *" : ""), field);
  };
  const tryIt = (path, method, operation, body, schemas) => {
    const prefix = `${method}${path.replace(/[^a-z0-9]+/gi, "-")}`;
    const parameters = operation.parameters ?? [];
    const form = element("form", { class: "try" },
      ...parameters.map((one) => input(`${prefix}-${one.name}`, one.name, one.schema, one.required)));
    if (body?.type === FORM_TYPE) {
      form.append(...properties(body.schema).map((one) => input(`${prefix}-${one.name}`, one.name, one.schema, false)));
    } else if (body) {
      const text = element("textarea", { name: "body", rows: "10", spellcheck: "false", "aria-label": "Request body" });
      text.value = JSON.stringify(exampleOf(body, schemas), null, 2);
      form.append(text);
    }
    const output = element("pre", { class: "response", tabindex: "0", "aria-label": "Response", hidden: "" });
    form.append(element("button", {}, "Send"));
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      output.hidden = false;
      output.textContent = "…";
      output.textContent = await send(path, method, parameters, body, form);
    });
    return element("div", {}, form, output);
  };
  const send = async (path, method, parameters, body, form) => {
    const given = new FormData(form);
    const query = new URLSearchParams();
    const headers = {};
    let address = path;
    for (const one of parameters) {
      const value = given.get(one.name);
      if (one.in === "path") address = address.replace(`{${one.name}}`, encodeURIComponent(value));
      else if (value && one.in === "query") query.set(one.name, value);
      else if (value && one.in === "header") headers[one.name] = value;
      given.delete(one.name);
    }
    const key = document.querySelector("#key").value.trim();
    if (key) headers.Authorization = `Bearer ${key}`;
    const options = { method: method.toUpperCase(), headers };
    if (body?.type === FORM_TYPE) {
      options.body = new FormData();
      for (const [name, value] of given) if (value instanceof File ? value.size : value) options.body.set(name, value);
    } else if (body) {
      headers["Content-Type"] = JSON_TYPE;
      options.body = given.get("body");
    }
    try {
      const response = await fetch(query.size ? `${address}?${query}` : address, options);
      return `${response.status} ${response.statusText}\n\n${pretty(await response.text())}`.slice(0, LONGEST);
    } catch (error) {
      return `The request failed: ${error.message}`;
    }
  };
  const pretty = (text) => {
    try {
      return JSON.stringify(JSON.parse(text), null, 2);
    } catch {
      return text;
    }
  };

  const responses = (operation) =>
    element("dl", { class: "facts" }, ...Object.entries(operation.responses).flatMap(([status, one]) => [
      element("dt", {}, status),
      element("dd", {}, one.description ?? "", ...Object.entries(one.content ?? {}).flatMap(([type, content]) =>
        [" ", element("span", { class: "rest" }, type, " ", ...(type === "text/event-stream" ? ["events"] : typeOf(content.schema)))])),
    ]));
  const operationOf = (path, method, operation, schemas) => {
    const body = bodyOf(operation);
    const schema = body && (schemas[referenceName(body.schema)] ? null : body.schema);
    return element("details", { class: "operation", id: `${method}-${path}` },
      element("summary", {}, element("b", {}, method.toUpperCase()), " ", element("code", {}, path), " ",
        element("span", { class: "rest" }, operation.summary ?? "")),
      element("p", {}, operation.description ?? ""),
      operation.security ? element("p", { class: "rest" }, "Requires an API key.") : null,
      operation.parameters?.length ? element("h3", {}, "Parameters") : null,
      operation.parameters?.length ? table("Parameters", operation.parameters) : null,
      body ? element("h3", {}, "Request body ", element("span", { class: "rest" }, body.type, " ", ...(schema?.properties ? [] : typeOf(body.schema)))) : null,
      schema?.properties ? table("Request body", properties(schema)) : null,
      SENDABLE.includes(method) ? element("h3", {}, "Try it") : null,
      SENDABLE.includes(method) ? tryIt(path, method, operation, body, schemas) : null,
      element("h3", {}, "Responses"), responses(operation));
  };

  // The page is filled after it is loaded, so the browser can't follow the address to a part of it.
  const showTarget = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    if (target.tagName === "DETAILS") target.open = true;
    target.scrollIntoView();
  };

  const render = (document_) => {
    const schemas = document_.components?.schemas ?? {};
    const groups = new Map();
    for (const [path, operations] of Object.entries(document_.paths)) {
      for (const method of METHODS.filter((one) => operations[one])) {
        const tag = operations[method].tags?.[0] ?? "other";
        if (!groups.has(tag)) groups.set(tag, []);
        groups.get(tag).push(operationOf(path, method, operations[method], schemas));
      }
    }
    for (const [tag, found] of groups)
      document.querySelector("#operations").append(element("section", {}, element("h2", {}, tag), ...found));
    const section = document.querySelector("#schemas");
    for (const [name, schema] of Object.entries(schemas)) {
      section.append(element("h3", { id: `schema-${name}` }, name), element("p", {}, schema.description ?? ""));
      if (schema.properties) section.append(table(name, properties(schema)));
    }
    section.hidden = false;
    document.querySelector("#status").textContent = `${document_.info.title} ${document_.info.version}: ${document_.info.summary ?? ""}`;
    showTarget();
  };
  window.addEventListener("hashchange", showTarget);
  document.querySelector("#access").addEventListener("submit", (event) => event.preventDefault());
  fetch("/openapi.json").then((response) => response.json()).then(render).catch(() => {
    document.querySelector("#status").textContent = "openapi.json can’t be loaded.";
  });
})();
