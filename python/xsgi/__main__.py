"""python -m xsgi"""

from xsgi.cli import main

if __name__ == "__main__":
    main()
