/** Runs in a thread that ends after one document. */
import { parentPort, workerData } from 'node:worker_threads';
import { convertYamlToJson } from './yaml-to-json.js';

export type YamlAnswer = { json: string } | { problem: string };

function parse(text: string): YamlAnswer {
  try {
    return { json: convertYamlToJson(text) };
  } catch (error) {
    return { problem: (error as Error).message.split('\n')[0] ?? '' };
  }
}

const port = parentPort;
if (!port) throw new Error('this module is a worker thread');
port.postMessage(parse(workerData as string));
