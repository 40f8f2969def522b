# nearfold in a container, as a user without rights and with a root that can be read-only:
#
#   docker build --tag nearfold .
#   docker run --read-only --tmpfs /tmp --volume nearfold:/data --volume "$PWD:/documents:ro" nearfold index /documents
#   docker run --read-only --tmpfs /tmp --volume nearfold:/data --publish 127.0.0.1:8765:8765 nearfold
#
# The store and the journals of jobs are in /data. Without a command it serves the review pages at
# http://localhost:8765, and prints the password that they ask for (docs/reviewing.md names other logins).
FROM python:3.12-slim-bookworm AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
SHELL ["/bin/bash", "-o", "pipefail", "-c"]
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends build-essential curl ca-certificates \
    && rm -rf /var/lib/apt/lists/* \
    && curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y --profile minimal --default-toolchain 1.89.0
ENV PATH=/root/.cargo/bin:/opt/nearfold/bin:$PATH
WORKDIR /src
COPY requirements/ requirements/
RUN python -m venv /opt/nearfold \
    && pip install --require-hashes --requirement requirements/build.txt --requirement requirements/image.txt
COPY pyproject.toml setup.py MANIFEST.in README.md LICENSE ./
COPY kernel/ kernel/
COPY mappings/ mappings/
COPY indexer/ indexer/
COPY nearfold/ nearfold/
RUN NEARFOLD_REQUIRE_KERNEL=1 pip install --no-deps --no-build-isolation .

FROM python:3.12-slim-bookworm
COPY --from=build /opt/nearfold /opt/nearfold
RUN useradd --create-home --home-dir /data --uid 10001 nearfold
ENV PATH=/opt/nearfold/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    NEARFOLD_STORE=sqlite:////data/nearfold.db \
    XDG_STATE_HOME=/data/state
USER 10001
WORKDIR /data
VOLUME /data
EXPOSE 8765
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s \
    CMD ["python", "-c", "import socket; socket.create_connection(('127.0.0.1', 8765), 3).close()"]
ENTRYPOINT ["nearfold"]
CMD ["serve", "--host", "0.0.0.0", "--allow-host", "localhost"]
