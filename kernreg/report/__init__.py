"""One page about a fitted model and a table of samples: how good it is, how sure, and why.

    subject.py   Subject: the model, its last machine, and the samples as that machine sees them
    sections.py  what the page tells: scores, uncertainty, influence, explanations, the kernel; or why it cannot
    page.py      sections as one self-contained HTML file
    build.py     make_report: all of it

May import: the layers below it in docs/extend/architecture.md. Pictures need the extra ``plot``.
"""

from kernreg.report.build import make_report

__all__ = ["make_report"]
