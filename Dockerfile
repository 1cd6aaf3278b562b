# thzsync with the tested versions of constraints.txt, and kernels compiled when the image is built.
FROM python:3.11-slim-bookworm

WORKDIR /opt/thzsync
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY src ./src
RUN pip install --no-cache-dir -c constraints.txt .

# Any user may run the image, so compiled kernels lie where any user may renew them.
ENV NUMBA_CACHE_DIR=/var/cache/thzsync MPLCONFIGDIR=/tmp/matplotlib
RUN thzsync run tiny --policy fixed-ratio --iterations 1 --out /tmp/warm \
    && thzsync audit /tmp/warm \
    && rm -r /tmp/warm \
    && chmod -R a+rwX /var/cache/thzsync

RUN useradd --create-home thzsync && install -d -o thzsync /data
USER thzsync
WORKDIR /data
ENTRYPOINT ["thzsync"]
CMD ["--help"]
