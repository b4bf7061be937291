"""The questions about a new reservation: `berth new` asks them on a terminal, and an issue form in a browser.

Each is here once: its flag, its words, its example, and the heading and bounds of its answer in the form.
"""

from typing import NamedTuple


class Prompt(NamedTuple):
    """A question for a value, and the flag that gives it.

    `heading` and `longest`, in characters, are those of its answer in the form; empty for what no form asks.
    `help` is what the form says below the heading, besides the question.
    """

    flag: str
    text: str
    example: str
    heading: str = ""
    longest: int = 0
    optional: bool = False
    help: str = ""

    @property
    def field(self) -> str:
        """Return the id of its field in the form, by which an address prefills it."""
        return self.heading.lower().replace(" ", "-")


PROMPTS = {
    "name": Prompt("NAME", "Which name?", "linear-algebra"),
    "class": Prompt("--class", "Which resource class?", "", "Resource class", 63),
    "seats": Prompt(
        "--seats",
        "How many seats?",
        "25",
        "Seats",
        200,
        help="As many as people work at once: 25, or 40-50 for 50; by group: late=8.",
    ),
    "when": Prompt(
        "--weekly, --daily, --once or --dates",
        "On which weekdays, or which dates?",
        "mon,wed",
        "Days or dates",
        1000,
        help="Weekdays such as mon,wed or mon-fri, or dates such as 2027-06-01, 7 June, 8-12 June 2027.",
    ),
    "times": Prompt(
        "its times, such as 09:00-13:00",
        "From when to when?",
        "09:00-13:00",
        "Times",
        500,
        help="Local times such as 9-11 or 2pm-5pm; groups have names: regular=09:00-11:00 late=14:00-16:00.",
    ),
    "from": Prompt(
        "--from or --within",
        "First date, or which terms?",
        "",
        "First date",
        200,
        optional=True,
        help="With weekdays: such as 2027-02-22, or the name of a term. With dates: leave it empty.",
    ),
    "until": Prompt(
        "--until",
        "Last date?",
        "",
        "Last date",
        200,
        optional=True,
        help="With weekdays and a first date: such as 2027-06-11.",
    ),
}
LABELS = Prompt(
    "--match-labels",
    "Which labels do only its sessions have? Empty: count all.",
    "course=algebra",
    "Label",
    200,
    optional=True,
    help="Without one, all sessions of the class take the seats, also those of other courses.",
)
NOTES = "notes"
"""The key of the answer that is for the people who review, and that no program reads. It is the last one."""

ANSWER_MARK = "<!-- berth request -->"
"""How an answer to a request begins: by this, a workflow finds those that it wrote before."""

FORM = {
    "title": Prompt("--title", "What is the course called?", "Linear algebra, spring 2027", "Course", 100),
    **{key: prompt for key, prompt in PROMPTS.items() if prompt.heading},
    "match-labels": LABELS,
    "time-zone": Prompt("--time-zone", "In which time zone are the times?", "", "Time zone", 60),
    "contact": Prompt(
        "--contact",
        "Who can be asked?",
        "ada@example.org",
        "Contact",
        200,
        optional=True,
        help="An e-mail address, @user or @organization/team. It becomes part of the file of the course.",
    ),
    NOTES: Prompt(
        "",
        "Anything else?",
        "",
        "Notes",
        4000,
        optional=True,
        help="For the people who review; no program reads it.",
    ),
}
"""The questions of the form, in its order."""
