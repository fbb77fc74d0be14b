# The core of softbleu: docker build -t softbleu . && docker run --rm -v "$PWD:/data" softbleu score -c A.txt -r R.txt
FROM python:3.13-slim AS build
WORKDIR /src
COPY . .
RUN pip install --no-cache-dir build==1.5.0 && python -m build --wheel --outdir /dist .

FROM python:3.13-slim
COPY core.txt /tmp/core.txt
RUN pip install --no-cache-dir --no-compile -r /tmp/core.txt
COPY --from=build /dist/ /tmp/dist/
RUN pip install --no-cache-dir --no-compile --no-deps /tmp/dist/*.whl \
    && rm -r /tmp/dist /tmp/core.txt \
    && useradd --uid 10001 --create-home softbleu
USER 10001
WORKDIR /data
ENTRYPOINT ["softbleu"]
CMD ["--help"]
