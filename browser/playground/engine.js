// The worker that compiles and runs kernels. A worker that fails or takes too long is replaced.

const LIMIT = 20000;

export class Engine {
  #worker;
  #next = 0;
  #open = new Map();
  #onReady;
  #onRestart;

  constructor({ onReady, onRestart }) {
    this.#onReady = onReady;
    this.#onRestart = onRestart;
    this.#start();
  }

  #start() {
    const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
    this.#worker = worker;
    worker.onmessage = ({ data: { id, result, error, ready, hasWebGpu, failed } }) => {
      if (ready) this.#onReady({ hasWebGpu });
      else if (failed) this.restart(`the compiler cannot be loaded: ${failed}`, false);
      else this.#settle(id, result, error);
    };
    worker.onerror = (event) => this.restart(`the compiler's worker failed: ${event.message ?? "it cannot be loaded"}`, event.message !== undefined);
  }

  #settle(id, result, error) {
    const request = this.#open.get(id);
    if (!request) return;
    clearTimeout(request.timer);
    this.#open.delete(id);
    if (error) request.reject(Object.assign(new Error(error.message), error));
    else request.resolve(result);
  }

  /** Sends a request. The promise is rejected if it fails, or if it takes longer than the limit in milliseconds. */
  request(operation, message, limit = LIMIT) {
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      const late = () => this.restart(`stopped after ${limit / 1000} seconds`, true);
      this.#open.set(id, { resolve, reject, timer: limit ? setTimeout(late, limit) : undefined });
      this.#worker.postMessage({ id, operation, ...message });
    });
  }

  /** Ends the worker. All open requests fail with this reason. */
  restart(reason, again = true) {
    this.#worker.terminate();
    for (const [id] of [...this.#open]) this.#settle(id, undefined, { message: reason, isStopped: true });
    this.#onRestart(reason);
    if (again) this.#start();
  }
}
