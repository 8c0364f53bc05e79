# Helix in a container: the wheel is built with its pages, and only what it needs is kept.
#
#   docker build -t helix .
#   docker run -d --name helix -v helix:/data helix
#   docker exec helix helix recall "what do we do before pushing?"
#
# `--build-arg LOCK=requirements-server.lock` makes the image of a team's server (docs/server.md, deploy/).
# It listens on the container's own loopback and publishes no port; docs/install.md says how clients reach it.

FROM node:22-slim AS page
WORKDIR /source
COPY web/explorer/ web/explorer/
COPY web/graphiql/ web/graphiql/
COPY web/shared/ web/shared/
COPY sdk/typescript/src/ sdk/typescript/src/
RUN for page in explorer graphiql; do (cd "web/$page" && npm ci && npm run build) || exit 1; done

FROM python:3.13-slim AS helix
RUN python -m venv /opt/helix
WORKDIR /source
ARG LOCK=requirements.lock
COPY requirements.lock requirements-server.lock ./
RUN /opt/helix/bin/pip install --no-cache-dir --require-hashes --only-binary :all: -r ${LOCK}
COPY pyproject.toml README.md LICENSE ./
COPY helix/ helix/
COPY schema/ schema/
COPY queries/ queries/
COPY --from=page /source/helix/_data/ helix/_data/
RUN /opt/helix/bin/python -m hatchling build --target wheel --directory /tmp/wheel \
    && /opt/helix/bin/pip install --no-cache-dir --no-index --no-deps /tmp/wheel/*.whl

FROM python:3.13-slim
# Git is for `helix ingest git` of a mounted repository; Debian keeps one version of a release, so none is pinned.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends git \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 10001 --create-home helix \
    && install --directory --owner helix --group helix --mode 0700 /data
COPY --from=helix /opt/helix /opt/helix
ENV PATH=/opt/helix/bin:$PATH HELIX_HOME=/data
USER 10001
WORKDIR /home/helix
# A new volume begins with what the image has here: the model too.
RUN helix models install
VOLUME ["/data"]
HEALTHCHECK --interval=30s --timeout=10s --start-period=30s CMD ["helix", "status"]
CMD ["helix", "serve"]
