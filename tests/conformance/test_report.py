"""docs/conformance.md says what a run says."""

from __future__ import annotations

import pytest

from tests.conformance import report
from tests.conformance.shared import data


@pytest.mark.slow
def test_the_document_has_the_figures_of_a_run() -> None:
    """Suite by suite and rule by rule; nothing fails, nothing is skipped."""
    data("README.md")
    suites = report.run()
    assert [(suite.name, suite.failed, suite.why) for suite in suites if suite.failed] == []
    assert report.table(suites) in report.DOCUMENT.read_text()


def test_a_suite_that_cannot_be_run_has_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the data nothing counts as passed."""

    def skip(_: report.Suite) -> None:
        pytest.skip("no data")

    monkeypatch.setattr(report, "SUITES", [("one", skip), ("two", lambda suite: None)])
    assert [(suite.failed, suite.why) for suite in report.run()] == [
        (1, "no data"),
        (1, "no cases"),
    ]
