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

parentPort?.postMessage(parse(workerData as string));
