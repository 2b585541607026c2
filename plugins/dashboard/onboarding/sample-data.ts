/** Adds and removes the sample project with what each plugin puts into it (contract 80). */
import type { Clock, Collection, Doc, Principal } from '../../../kernel/contract/index.js';
import { conflict } from '../../../kernel/errors.js';
import type { AuditLog } from '../../../ports/domain/audit.js';
import { SAMPLE_PROJECT, type SampleDataProvider } from '../../../ports/domain/dashboard.js';
import { StoreConflict } from '../../../ports/store/index.js';

/** Exists while the sample data does, so that a user's project of this name is never removed. */
export interface SampleDoc extends Doc {
  at: string;
}

export class SampleDataService {
  constructor(
    private readonly rows: Collection<SampleDoc>,
    private readonly providers: () => readonly SampleDataProvider[],
    private readonly clock: Pick<Clock, 'iso'>,
    private readonly audit: () => AuditLog | undefined,
  ) {}

  async isAdded(): Promise<boolean> {
    return (await this.rows.get(SAMPLE_PROJECT)) !== null;
  }

  /** @throws ServiceError conflict when it exists, or a project has its slug */
  async add(principal: Principal): Promise<void> {
    try {
      await this.rows.insert({ id: SAMPLE_PROJECT, at: this.clock.iso() });
    } catch (error) {
      if (error instanceof StoreConflict) throw conflict('Sample data exists. Remove it first.');
      throw error;
    }
    const [project, ...others] = this.#sorted();
    try {
      await project?.add(principal);
    } catch (error) {
      // Nothing was added: the slug belongs to another project.
      await this.rows.remove({ id: SAMPLE_PROJECT });
      throw error;
    }
    // What a failure leaves is removed like all of it.
    for (const provider of others) await provider.add(principal);
    await this.audit()?.record(principal, 'sample_data.added', SAMPLE_PROJECT, {});
  }

  /** @throws ServiceError conflict naming what was added to the project since */
  async remove(principal: Principal): Promise<void> {
    if (!(await this.isAdded())) return;
    for (const provider of this.#sorted().toReversed()) await provider.remove(principal);
    await this.rows.remove({ id: SAMPLE_PROJECT });
    await this.audit()?.record(principal, 'sample_data.removed', SAMPLE_PROJECT, {});
  }

  #sorted(): SampleDataProvider[] {
    return this.providers().toSorted((a, b) => a.order - b.order);
  }
}
