// The site's search asks a worker, which a browser starts for no page that is opened as a file.
// There, the worker's script runs in a hidden frame: it has the page's origin and can speak to it.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      this.frame = frame.contentWindow;
      this.frame.document.write("<body>"); // so that no browser lays an empty page over it later
      this.frame.document.close();
      this.loaded = new Promise((resolve) => {
        this.frame.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", {data}));
        this.frame.importScripts = (...names) => Promise.all(names.map((name) => this.load(name)));
        this.load(address).then(resolve);
      });
    }

    load(address) {
      const script = this.frame.document.createElement("script");
      script.src = address;
      this.frame.document.body.append(script);
      return new Promise((resolve) => script.addEventListener("load", resolve));
    }

    postMessage(data) {
      this.loaded.then(() => this.frame.dispatchEvent(new MessageEvent("message", {data})));
    }
  };
}
