"""Write the issue form by which people ask for seats, with the site's classes and time zones as choices."""

from berth.edit.prompts import FORM, NOTES
from berth.output.templates import repository_file
from berth.schema.declared import Declared
from berth.schema.values import ResourceClass, Site

ISSUE_FORM = ".github/ISSUE_TEMPLATE/seats.yml"
_UTC = "UTC"


def issue_form(declared: Declared, site: Site | None) -> str:
    """Return the form for a site."""
    zones = [
        site.zone if site else _UTC,
        *(reservation.recurrence.zone for reservation in declared.reservations),
    ]
    choices = {
        "class": sorted(declared.classes),
        "time-zone": [zones[0], *sorted({*zones[1:]} - {zones[0]})],
    }
    helps = {
        "class": "; ".join(_shape(resource_class) for _, resource_class in sorted(declared.classes.items()))
    }
    if declared.terms:
        helps["from"] = f"{FORM['from'].help} Terms: {', '.join(declared.terms_by_date())}."
    return repository_file(ISSUE_FORM, {"prompts": FORM, "choices": choices, "helps": helps, "long": NOTES})


def _shape(resource_class: ResourceClass) -> str:
    amounts = ", ".join(f"{amount} {resource}" for resource, amount in resource_class.requests.items())
    return f"{resource_class.name}: {amounts}" if amounts else resource_class.name
