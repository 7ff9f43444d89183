"""Work that may never end or may take all memory, done in a process that can be killed.

A user's template is a program. A sandbox controls what it may touch, but not what one C call costs:
`9**64**64` or `'a'.ljust(3000000000)` run inside the interpreter, where no thread can be stopped
and no limit can be checked. So a template runs in another process:

* `run(task, value, budget)` hands plain data to a *worker*: a process of the same Python, started
  with `-m`. It needs neither a fork nor `if __name__ == "__main__"`, so it works in scripts,
  notebooks and Streamlit;
* the kernel limits the worker (memory, processor time, no writing of files), and the worker gets no
  keys of the environment;
* after the wall time the worker is killed, and the next task gets a new one. Tasks of one question
  share a `Budget`, so the limit holds for the whole question;
* a worker that has finished its task is reused: then a task costs two writes to a pipe.

Tasks are sent with `marshal`, because the worker may trust this process. Answers come as JSON,
because this process does not trust the code that ran in the worker. If no worker can be started
(`Unavailable`), foreign code is not run at all.
"""

from playground.base.confined.workers import Budget, Stopped, Unavailable, run

__all__ = ["Budget", "Stopped", "Unavailable", "run"]
