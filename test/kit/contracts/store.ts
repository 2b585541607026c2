/**
 * What every DocumentStore must do, whatever the engine: the edges that ports/store.ts names, each pinned. An
 * adapter's test calls `storeContract` with a way to open an empty store; every test works in collections of its own.
 */
import { bytesField } from './store-bytes.js';
import { changes } from './store-changes.js';
import { concurrency } from './store-concurrency.js';
import { filters } from './store-filters.js';
import { search } from './store-search.js';
import { compression } from './store-compression.js';
import { pages } from './store-pages.js';
import { properties } from './store-properties.js';
import { transactions } from './store-transactions.js';
import type { DocumentStore } from '../../../ports/store.js';
import type { Fixture } from './fixture.js';

export interface StoreContract {
  /** Opens a connected store; `skip` ends the suite as not run, with the reason in the log (it throws). */
  open(skip: (reason: string) => never): Promise<DocumentStore>;
  close?(): Promise<void>;
  /** Why text beyond U+FFFF does not sort by code point on this server, where that is so. */
  utf16Order?: string;
  /** How often a property is tried instead of so many times: fewer in a run that somebody waits for. */
  tries?(count: number): number;
}

export function storeContract(engine: string, contract: StoreContract): void {
  describe(`DocumentStore contract: ${engine}`, function () {
    this.timeout(300_000);
    let store: DocumentStore | undefined;
    let names = 0;
    const run = Date.now().toString(36);
    const fixture: Fixture = {
      get store(): DocumentStore {
        if (!store) throw new Error('the store is not open');
        return store;
      },
      get utf16Order(): string | undefined {
        return contract.utf16Order;
      },
      name: () => `t${run}_${++names}`,
      tries: (count) => contract.tries?.(count) ?? count,
    };

    before(async function () {
      store = await contract.open((reason) => {
        process.stdout.write(`  ${engine}: ${reason}\n`);
        return this.skip();
      });
    });
    after(async () => {
      await store?.close();
      await contract.close?.();
    });

    filters(fixture);
    pages(fixture);
    search(fixture);
    changes(fixture);
    compression(fixture);
    bytesField(fixture);
    concurrency(fixture);
    transactions(fixture);
    properties(fixture);
  });
}
