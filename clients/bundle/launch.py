"""Starts the sidecar that lies beside this file: the ``__main__.py`` of a bundle.

The bundle is a folder or a zip archive. Code compiled for a Python version is in a
folder of the archive with its name, and is found first; other Pythons use the sources.
Any Python 3 can read this file, so that a Python that is too old can say so.
"""

import os
import sys
from zipimport import zipimporter

if sys.version_info < (3, 11):  # noqa: UP036 - see above
    sys.exit("stream-sidecar needs Python 3.11 or newer, not " + sys.version.split()[0])

HERE = os.path.dirname(os.path.abspath(__file__))
COMPILED = os.path.join(HERE, str(sys.implementation.cache_tag))


class Importer(zipimporter):
    """Finds a module without reading it; Python's own finder reads each one twice."""

    def get_filename(self, fullname: str) -> str:
        end = os.sep + "__init__.pyc" if self.is_package(fullname) else ".pyc"
        return self.archive + os.sep + self.prefix + fullname.rpartition(".")[2] + end


def import_compiled(place: str) -> Importer:
    """A hook for the bytecode in an archive; ImportError for every other place."""
    if not place.startswith(COMPILED):
        raise ImportError(place)
    return Importer(place)


sys.path_hooks.insert(0, import_compiled)
# In front of everything: neither the directory that the host works in nor a package of
# the same name in the interpreter can take the place of what is bundled. Once only, for
# each place of a path costs time with every module.
OTHERS = [place for place in sys.path if os.path.abspath(place) != HERE]
sys.path[:] = [COMPILED, HERE, *OTHERS]

from stream_sidecar.__main__ import main  # noqa: E402

if __name__ == "__main__":  # worker processes import this file
    main()
