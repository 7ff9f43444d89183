"""Work that may never end or may take all memory, done in a process that can be killed.

A user's template is a program. A sandbox sees what it may touch, but not what one C call costs:
`9**64**64` or `'a'.ljust(3000000000)` run inside the interpreter, where no thread can be stopped
and no limit be counted. So it runs elsewhere:

* `run(task, value, budget)` hands plain data to a *worker*, a process of this same Python started
  with `-m` (no fork, no `if __name__ == "__main__"` needed: scripts, notebooks and Streamlit
  alike);
* the worker has bounds that the kernel keeps (memory, processor time, no file may be written), and
  none of the environment's keys;
* who waits longer than the wall time kills it, and the next task gets a fresh one; tasks of one
  question share a `Budget`, so that the bound is that of the question;
* a worker that has done its task well is kept: a warm task costs two writes to a pipe.

Down the pipe goes `marshal` (we trust ourselves), up comes JSON (we do not trust what ran there).
Where no process can be started (`Unavailable`), what is not ours is not run at all.
"""

from playground.base.confined.workers import Budget, Stopped, Unavailable, run

__all__ = ["Budget", "Stopped", "Unavailable", "run"]
