"""What a self-contained sidecar runs first: the command line, also of its workers."""

from multiprocessing import freeze_support

from stream_sidecar.__main__ import main

if __name__ == "__main__":
    freeze_support()  # `repair --jobs` starts this program again, as a worker
    main()
