from ksolver_cli.plan.clock import Clock


def test_a_step_cut_short_is_told_of_but_does_not_end_the_search() -> None:
    clock = Clock(60.0, lambda: False)
    clock.note_cut_short()
    assert not clock.is_over()
    assert clock.struck == "time"


def test_an_interrupt_is_what_ended_a_search_whatever_was_cut_short_before() -> None:
    clock = Clock(60.0, lambda: True)
    clock.note_cut_short()
    assert clock.is_over()
    assert clock.struck == "interrupt"
