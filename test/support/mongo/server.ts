/**
 * A MongoDB for the tests: the one at SVC_TEST_MONGODB_URL, else mongodb-memory-server, else none
 * (README.md). Tests that kill their server start the MongoDB-compatible test server.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { MongoClient } from 'mongodb';
import { MongoMemoryServer } from 'mongodb-memory-server';
import { DryMongoBinary } from 'mongodb-memory-server-core/lib/util/DryMongoBinary.js';
import { isAvailable } from '../requirements.js';

const START_TIMEOUT_MS = 120_000;
const TEST_SERVER_START_TIMEOUT_MS = 120_000;

export const NO_MONGODB_MESSAGE = 'not run: no SVC_TEST_MONGODB_URL, and no mongod that mongodb-memory-server has';

let found: Promise<string | null> | undefined;

/**
 * Returns the URL of a test server without a database; null if none is available. Looked up once
 * per process.
 */
export async function findMongoUrl(): Promise<string | null> {
  found ??= process.env['SVC_TEST_MONGODB_URL']
    ? Promise.resolve(process.env['SVC_TEST_MONGODB_URL'])
    : startMemoryServer();
  const url = await found;
  isAvailable('mongodb', url !== null);
  return url;
}

async function startMemoryServer(): Promise<string | null> {
  const mayDownload = /^(1|on|yes|true)$/i.test(process.env['MONGOMS_RUNTIME_DOWNLOAD'] ?? '');
  const binary = await DryMongoBinary.locateBinary(await DryMongoBinary.generateOptions());
  if (binary === undefined && !mayDownload) return null;
  // Its helper process ends mongod together with this process.
  const server = await MongoMemoryServer.create({ instance: { launchTimeout: START_TIMEOUT_MS } });
  return server.getUri();
}

/**
 * Returns whether the server sorts text by UTF-16 units, as the test server does and MongoDB does
 * not.
 */
export async function sortsByUtf16(url: string): Promise<boolean> {
  const client = new MongoClient(url);
  try {
    const texts = client.db('aos_probe').collection<{ _id: string }>(`order_${process.pid}_${Date.now()}`);
    await texts.insertMany([{ _id: '\uffee' }, { _id: '😀' }]);
    const first = await texts.findOne({}, { sort: { _id: 1 } });
    await texts.drop();
    return first?._id === '😀';
  } finally {
    await client.close();
  }
}

export interface TestServer {
  url: string;
  port: number;
  process: ChildProcess;
  /** Ends it with the signal (default SIGTERM) and waits until it has exited. */
  stop(signal?: NodeJS.Signals): Promise<void>;
}

export interface TestServerOptions {
  /** 0 (default) for any free port. */
  port?: number;
  /** Stores documents in this file, safe against SIGKILL; otherwise in memory. */
  file?: string;
  /** Folder with the server's jars; otherwise start.sh finds or creates one. */
  lib?: string;
}

/** Starts the MongoDB-compatible test server; returns null if the JDK or Maven is missing. */
export async function startTestServer({ port = 0, file, lib }: TestServerOptions = {}): Promise<TestServer | null> {
  const script = fileURLToPath(new URL('./start.sh', import.meta.url));
  const child = spawn('bash', [script, String(port), file === undefined ? 'memory' : `h2sync:${file}`], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: lib === undefined ? process.env : { ...process.env, SVC_TEST_MONGO_LIB: lib },
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), TEST_SERVER_START_TIMEOUT_MS);
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      const ready = /^READY (\d+)$/.exec(line);
      if (ready) return toTestServer(child, Number(ready[1]));
    }
    return null;
  } finally {
    clearTimeout(timer);
  }
}

function toTestServer(child: ChildProcess, port: number): TestServer {
  return {
    url: `mongodb://127.0.0.1:${port}/`,
    port,
    process: child,
    async stop(signal = 'SIGTERM') {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exit = once(child, 'exit');
      child.kill(signal);
      await exit;
    },
  };
}
