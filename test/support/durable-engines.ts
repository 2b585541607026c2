import { createDatabaseUrl } from './mongo/databases.js';
import { findMongoUrl } from './mongo/server.js';

export interface DurableEngine {
  name: 'sqlite' | 'mongodb';
  /** Settings for a service with its own store; null if the engine is not available. */
  settings(): Promise<Record<string, string> | null>;
}

const sqlite: DurableEngine = { name: 'sqlite', settings: () => Promise.resolve({}) };

const mongodb: DurableEngine = {
  name: 'mongodb',
  async settings() {
    const url = await findMongoUrl();
    if (url === null) return null;
    return {
      SVC_STORAGE_URL: createDatabaseUrl(url),
      SVC_RELEASE_PRIVATE_KEY: '',
      SVC_LICENSE_KEY: 'license-key-for-tests-only-0123456789',
      SVC_SECURITY__DATA_KEY: 'data-key-for-tests-only-0123456789abcdef',
    };
  },
};

export const durableEngines: readonly DurableEngine[] = [sqlite, mongodb];
