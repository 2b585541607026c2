/** The durable engines that a process test runs on, each with a fresh store. */
import { newDatabase } from './mongo/databases.js';
import { mongoUrl } from './mongo/server.js';

export interface Engine {
  name: 'sqlite' | 'mongodb';
  /** Settings for a service with a store of its own; null when the engine is not to be had here. */
  settings(): Promise<Record<string, string> | null>;
}

const sqlite: Engine = { name: 'sqlite', settings: () => Promise.resolve({}) };

const mongodb: Engine = {
  name: 'mongodb',
  async settings() {
    const url = await mongoUrl();
    if (url === null) return null;
    return {
      SVC_STORAGE_URL: newDatabase(url),
      SVC_RELEASE_PRIVATE_KEY: '',
      SVC_LICENSE_KEY: 'license-key-for-tests-only-0123456789',
      SVC_SECURITY__DATA_KEY: 'data-key-for-tests-only-0123456789abcdef',
    };
  },
};

export const engines: readonly Engine[] = [sqlite, mongodb];
