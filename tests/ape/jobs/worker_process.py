"""A process that works on a job: `python -m tests.ape.jobs.worker_process URL JOB [MOST]`.

It says which paragraphs it saved, and goes on until nothing waits. After MOST of them it stops in the middle of its
stretch, holding it, until it is killed.
"""

from __future__ import annotations

import os
import signal
import sys
import time

from ape.jobs.store import JobStore, JobWorker
from tests.ape.jobs.job_factory import a_result


def main(url: str, job: str, most: int) -> None:
    worker, done = JobWorker.here(), 0
    with JobStore(url) as store:
        while store.counts(job).waiting:
            stretch = store.claim(job, worker)
            if stretch is None:
                time.sleep(0.01)  # another has the rest
                continue
            for row in stretch.rows:
                if row.result is None and store.save(stretch, row.planned.id, a_result(), seconds=1):
                    print(row.planned.id, flush=True)
                    done += 1
                    if done == most:
                        os.kill(os.getpid(), signal.SIGSTOP)
        store.release(worker)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else -1)
