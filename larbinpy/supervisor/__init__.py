"""The supervisor: starts the processes of a crawl, watches them, ends them.

In: a configuration and a state directory; signals; control messages of the children.
Out: an exit code, ``report.json``, and what the operator reads on the terminal.
It remembers who died when and why the crawl pauses, and touches no page and no URL.

``loop`` is its turn; ``inbox`` takes what the children say, ``course`` is how far the run has come,
``losses`` and ``mending`` replace children that died, ``pauses`` and ``ending`` decide, and
``observer`` reports; ``crew`` holds the children, ``parts`` everything.
"""
