/**
 * Contract suite of DocumentStore for every engine: the edge cases that ports/store/index.ts names.
 * An adapter's test calls `storeContract` with a function that opens an empty store.
 */
import { describeBytesField } from './store-bytes.js';
import { describeChanges } from './store-changes.js';
import { describeConcurrency } from './store-concurrency.js';
import { describeFilters } from './store-filters.js';
import { describeSearch } from './store-search.js';
import { describeCompression } from './store-compression.js';
import { describePages } from './store-pages.js';
import { describeProperties } from './store-properties.js';
import { describeTransactions } from './store-transactions.js';
import type { DocumentStore } from '../../../ports/store/index.js';
import type { ContractFixture } from './fixture.js';

export interface StoreContract {
  /**
   * Opens a connected store. `skip` throws and ends the suite as not run, with the reason in the
   * log.
   */
  open(skip: (reason: string) => never): Promise<DocumentStore>;
  close?(): Promise<void>;
  /**
   * Reason why this server does not sort text beyond U+FFFF by code point; undefined if it does.
   */
  utf16Order?: string;
  /** Returns the repeats of a property test instead of `count`, to shorten interactive runs. */
  tries?(count: number): number;
}

export function storeContract(engine: string, contract: StoreContract): void {
  describe(`DocumentStore contract: ${engine}`, function () {
    this.timeout(300_000);
    let store: DocumentStore | undefined;
    let names = 0;
    const run = Date.now().toString(36);
    const fixture: ContractFixture = {
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

    describeFilters(fixture);
    describePages(fixture);
    describeSearch(fixture);
    describeChanges(fixture);
    describeCompression(fixture);
    describeBytesField(fixture);
    describeConcurrency(fixture);
    describeTransactions(fixture);
    describeProperties(fixture);
  });
}
