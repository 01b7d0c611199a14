"""The answers of the service, and the events of webhooks."""

from ._generated.events import *  # noqa: F401, F403
from ._generated.models import *  # noqa: F401, F403
