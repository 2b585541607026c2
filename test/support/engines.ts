import { newDatabase } from './mongo/databases.js';
import { mongoUrl } from './mongo/server.js';

export interface Engine {
  name: 'sqlite' | 'mongodb';
  /** Settings for a service with its own store; null if the engine is not available. */
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
