"""A log that is not read, or can't be written, blocks nothing."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys

import pytest

from serve.middleware.log_writer import background_writer

pytestmark = pytest.mark.subprocess

TALK = """
import sys
from serve.middleware.log_writer import background_writer
with background_writer(sys.stdout) as write:
    for number in range(int(sys.argv[1])):
        write('{"line": %d, "é": "%s"}' % (number, "x" * 1000))
print("went on", file=sys.stderr)
"""


def test_lines_come_whole_and_in_order() -> None:
    done = subprocess.run([sys.executable, "-c", TALK, "200"], capture_output=True, text=True, timeout=300, check=True)
    assert [json.loads(line)["line"] for line in done.stdout.splitlines()] == list(range(200))


def test_a_reader_that_leaves_does_not_end_the_process() -> None:
    reading, writing = os.pipe()
    process = subprocess.Popen([sys.executable, "-c", TALK, "2000"], stdout=writing, stderr=subprocess.PIPE, text=True)
    os.close(writing)
    assert os.read(reading, 1)
    os.close(reading)
    assert process.communicate(timeout=300)[1] == "went on\n"
    assert process.returncode == 0


def test_a_reader_that_does_not_read_does_not_hold_up_the_process() -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb"):
        process = subprocess.Popen(
            [sys.executable, "-c", TALK, "2000"], stdout=writing, stderr=subprocess.PIPE, text=True
        )
        os.close(writing)
        assert process.communicate(timeout=300)[1] == "went on\n"
        assert process.returncode == 0


def test_a_closed_stdout_does_not_end_the_process() -> None:
    done = subprocess.run(
        ["sh", "-c", f'exec "{sys.executable}" -c "$0" 10 >&-', TALK],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "went on\n")


def test_lines_beyond_those_that_may_wait_are_counted() -> None:
    reading, writing = os.pipe()
    with os.fdopen(writing, "w") as stream, os.fdopen(reading) as reader:
        with background_writer(stream, lost=lambda count: f"lost {count}", most=4) as write:
            filler = "x" * 100_000  # more than a pipe holds: the writer is stuck with it
            write(filler)
            for number in range(50):
                write(str(number))
            lines = [reader.readline().rstrip("\n")]
            while lines[-1] != "last":
                write("last")
                lines.append(reader.readline().rstrip("\n"))
        lost = next(int(line.removeprefix("lost ")) for line in lines if line.startswith("lost "))
    numbers = [line for line in lines if line.isdecimal()]
    assert numbers == [str(number) for number in range(len(numbers))]
    assert len(numbers) + lost >= 50


def test_a_stream_without_a_number_is_left_alone() -> None:
    stream = io.StringIO()
    with background_writer(stream) as write:
        write("nowhere")
    assert stream.getvalue() == ""
