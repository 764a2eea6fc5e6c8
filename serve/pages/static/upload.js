// Upload of a book: drag and drop, progress, and clear words if it is too large or the connection is lost.
import { clear, csrfHeaders, fail, problemOf, ApiError } from "./api.js";

const form = document.querySelector("#upload");
const find = (id) => document.getElementById(id);
const limit = Number(form.dataset.maxBytes);
const megabytes = (bytes) => `${Math.round(bytes / 1e6).toLocaleString("en")} MB`;

for (const zone of form.querySelectorAll(".drop")) {
  const input = zone.querySelector("input");
  zone.addEventListener("dragover", (event) => { event.preventDefault(); zone.classList.add("over"); });
  for (const name of ["dragleave", "drop"]) zone.addEventListener(name, () => zone.classList.remove("over"));
  zone.addEventListener("drop", (event) => {
    event.preventDefault();
    if (event.dataTransfer.files.length) input.files = event.dataTransfer.files;
    input.dispatchEvent(new Event("change"));
  });
  input.addEventListener("change", clear);
}
// A file that misses its place must not replace the page.
for (const name of ["dragover", "drop"]) addEventListener(name, (event) => event.preventDefault());

// The service knows no time zone of the reader.
for (const one of document.querySelectorAll("time")) one.textContent = new Date(one.dateTime).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });

const chosen = () => ["source", "mt", "bilingual"].filter((name) => find(name).files.length);

// Why the chosen files can't be sent, or "".
const objection = () => {
  const names = chosen().join(" ");
  if (names !== "source mt" && names !== "bilingual") return "Choose the original and its translation, or one file with both.";
  const size = chosen().reduce((sum, name) => sum + find(name).files[0].size, 0);
  if (size > limit) return `The files have ${megabytes(size)}; at most ${megabytes(limit)} can be sent. Send the book in parts.`;
  return "";
};

const content = () => {
  const data = new FormData(form);
  for (const name of ["source", "mt", "bilingual"]) if (!find(name).files.length) data.delete(name);
  return data;
};

const finish = () => {
  find("sending").hidden = true;
  form.querySelector("button").disabled = false;
};

form.addEventListener("submit", (event) => {
  event.preventDefault();
  clear();
  const why = objection();
  if (why) return fail(new ApiError(422, { detail: why }));
  const request = new XMLHttpRequest();
  let share = 0;
  find("sending").hidden = false;
  form.querySelector("button").disabled = true;
  find("abort").onclick = () => request.abort();
  request.upload.onprogress = ({ loaded, total }) => {
    share = total ? loaded / total : 0;
    find("sent").value = 100 * share;
    find("sent-words").textContent = share < 1 ? `${Math.floor(100 * share)}% sent` : "Reading the book and pairing its paragraphs …";
  };
  request.onload = () => {
    if (request.status === 201) return location.assign(`/books/${JSON.parse(request.responseText).id}`);
    finish();
    return fail(problemOf(request.status, request.responseText));
  };
  request.onerror = () => {
    finish();
    fail(new ApiError(0, { detail: `The connection was lost after ${Math.floor(100 * share)}% of the upload. Nothing was kept; your files are still chosen, so press the button again.` }));
  };
  request.onabort = () => { finish(); fail(new ApiError(0, { detail: "The upload was cancelled. Nothing was kept." })); };
  request.open("POST", "/v1/books");
  for (const [name, value] of Object.entries(csrfHeaders())) request.setRequestHeader(name, value);
  request.send(content());
  return undefined;
});
