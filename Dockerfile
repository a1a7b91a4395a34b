# One image for every part: web, worker, deliverer and migrate (deploy/start).
# Runs as a user of no rights on a read-only root file system; what it writes is in
# /var/lib/assay (a volume) and /tmp (a tmpfs). Built for amd64 and arm64:
# docker buildx build --platform linux/amd64,linux/arm64 .
FROM python:3.11-slim AS build
RUN pip install --no-cache-dir uv
WORKDIR /srv/assay
COPY . .
RUN UV_COMPILE_BYTECODE=1 deploy/build

FROM python:3.11-slim
# pg_dump and pg_restore for `backup` and `restore`; as new as the server, or newer.
# tesseract reads pictures of reports in scripts that the OCR models can't.
RUN apt-get update \
    && apt-get install -y --no-install-recommends postgresql-client tesseract-ocr \
        tesseract-ocr-rus tesseract-ocr-ukr tesseract-ocr-ell tesseract-ocr-ara \
        tesseract-ocr-hin \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 10001 --home-dir /var/lib/assay --create-home assay
COPY --from=build /srv/assay /srv/assay
WORKDIR /srv/assay
ENV VAR_DIR=/var/lib/assay PYTHONUNBUFFERED=1
USER 10001
VOLUME /var/lib/assay
EXPOSE 8000
HEALTHCHECK --start-period=30s CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8000/healthz', timeout=3)"]
ENTRYPOINT ["deploy/start"]
CMD ["web"]
