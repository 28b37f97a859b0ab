"""Starts the sidecar that lies beside this file: the ``__main__.py`` of a bundle.

The bundle is a folder or a zip archive. What is compiled for this very Python stands in
a folder of the archive that is named after it, and is found first; without one the
sources serve. Any Python 3 can read this file, so that too old a one says so.
"""

import os
import sys

if sys.version_info < (3, 11):  # noqa: UP036 - see above
    sys.exit("stream-sidecar needs Python 3.11 or newer, not " + sys.version.split()[0])

HERE = os.path.dirname(os.path.abspath(__file__))
# In front of everything: neither the directory that the host works in nor a package of
# the same name in the interpreter can take the place of what is bundled.
sys.path[:0] = [os.path.join(HERE, str(sys.implementation.cache_tag)), HERE]

from sidecar.__main__ import main  # noqa: E402

if __name__ == "__main__":  # worker processes import this file
    main()
