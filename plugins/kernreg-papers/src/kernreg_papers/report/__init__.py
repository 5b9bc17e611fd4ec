"""The report: our numbers beside the papers', as Markdown and as one HTML page.

summary.py       mean, deviation and nearness of each cell
comparison.py    tests over the rows of a table, in words
rank_diagram.py  average ranks of methods with the critical difference
pictures.py      the pictures of a report, or why there is none
sections.py      what is said about one table or figure
words.py         the sentences both forms share
pages.py         the two forms
files.py         write_report
"""
