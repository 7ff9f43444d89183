# The app: `docker build -t playground .`, then
# `docker run -p 127.0.0.1:8501:8501 -e PLAYGROUND_PUBLIC=run -v playground:/data playground`.
FROM python:3.13-slim AS build
WORKDIR /source
COPY requirements.lock ./
RUN python -m venv /opt/playground
RUN /opt/playground/bin/pip install --no-cache-dir --no-deps --require-hashes -r requirements.lock
COPY pyproject.toml README.md LICENSE ./
COPY .streamlit .streamlit
COPY docs docs
COPY pages pages
COPY sample_sessions sample_sessions
COPY playground playground
RUN /opt/playground/bin/pip install --no-cache-dir --no-deps --no-build-isolation .

FROM python:3.13-slim
COPY --from=build /opt/playground /opt/playground
COPY container/start container/healthy /usr/local/bin/
RUN useradd --uid 1000 --create-home playground && install -d -o playground /data
ENV PATH=/opt/playground/bin:$PATH PLAYGROUND_HOME=/data PYTHONUNBUFFERED=1
USER playground
WORKDIR /home/playground
VOLUME /data
EXPOSE 8501
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s CMD ["healthy"]
ENTRYPOINT ["start"]
