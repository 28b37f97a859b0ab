from stream_sidecar.api import *  # noqa: F403 - the names of its __all__
from stream_sidecar.api import __all__ as __all__

__version__: str
