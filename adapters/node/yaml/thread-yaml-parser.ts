import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { KeyedMutex } from '../../../lib/keyed-mutex.js';
import { YamlRejected, type YamlParser } from '../../../ports/yaml-parser.js';
import type { YamlAnswer } from './yaml-worker.js';

const WORKER_PATH = fileURLToPath(new URL('yaml-worker.js', import.meta.url));
const PARSE_TIMEOUT_MS = 15_000;
const MAX_HEAP_MB = 512;
const MAX_PROBLEM_CHARACTERS = 200;

export class ThreadYamlParser implements YamlParser {
  readonly #mutex = new KeyedMutex();

  constructor(private readonly timeoutMs = PARSE_TIMEOUT_MS) {}

  /** One document at a time; each has its own thread, which is stopped at the time limit. */
  async parse(text: string): Promise<unknown> {
    const answer = await this.#mutex.run('', () => this.#runThread(text));
    if ('problem' in answer) throw new YamlRejected(answer.problem.slice(0, MAX_PROBLEM_CHARACTERS));
    return JSON.parse(answer.json) as unknown;
  }

  #runThread(text: string): Promise<YamlAnswer> {
    return new Promise((resolve) => {
      const worker = new Worker(WORKER_PATH, {
        workerData: text,
        resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
      });
      const finish = (answer: YamlAnswer): void => {
        clearTimeout(timer);
        resolve(answer);
        void worker.terminate();
      };
      const timer = setTimeout(() => finish({ problem: 'takes too long to parse; send JSON' }), this.timeoutMs);
      worker.once('message', finish);
      worker.once('error', () => finish({ problem: 'too complex to parse; send JSON' }));
      worker.once('exit', () => finish({ problem: 'the parser stopped early; send the document again' }));
    });
  }
}
