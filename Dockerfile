# The operator as an image, for those who build with a container engine:
#
#   docker build --tag controller .
#
# `deno task image` writes a smaller one without an engine, the same bytes every time: see docs/IMAGES.md.
FROM node:24-trixie-slim AS build
RUN apt-get update \
  && apt-get install --yes --no-install-recommends ca-certificates \
  && npm install --global deno@2.9.6
WORKDIR /source
COPY deno.json deno.lock ./
RUN deno install --frozen
COPY . .
RUN ./compile.sh --outfile /controller

FROM debian:trixie-slim
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build --chmod=755 /controller /usr/local/bin/controller
ENV HOME=/tmp SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt
WORKDIR /tmp
USER 65532:65532
ENTRYPOINT ["/usr/local/bin/controller"]
