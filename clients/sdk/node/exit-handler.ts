/**
 * Runs work before the process ends by itself or by a signal. `process.exit` and crashes run none.
 */

type ExitWork = () => Promise<unknown>;

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const works = new Set<ExitWork>();

async function runWorks(): Promise<void> {
  const all = [...works];
  works.clear();
  await Promise.allSettled(all.map((work) => work()));
}

/** Other listeners of the signal decide themselves when the process ends. */
async function endBySignal(signal: NodeJS.Signals): Promise<void> {
  const isAlone = process.listenerCount(signal) === 1;
  await runWorks();
  removeListeners();
  if (isAlone) process.kill(process.pid, signal);
}

const onSignal = (signal: NodeJS.Signals): void => void endBySignal(signal);

const onBeforeExit = (): void => void runWorks().then(removeListeners);

function addListeners(): void {
  process.on('beforeExit', onBeforeExit);
  for (const signal of SIGNALS) process.on(signal, onSignal);
}

function removeListeners(): void {
  process.off('beforeExit', onBeforeExit);
  for (const signal of SIGNALS) process.off(signal, onSignal);
}

/** @returns a function that removes the work */
export function runAtExit(work: ExitWork): () => void {
  if (works.size === 0) {
    removeListeners();
    addListeners();
  }
  works.add(work);
  return () => {
    if (works.delete(work) && works.size === 0) removeListeners();
  };
}
