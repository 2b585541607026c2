/** For administrators (contract 97, floating seats). */
import { inject, injectable, type Principal, type Collection } from '../../../kernel/contract/index.js';
import { notFound } from '../../../kernel/errors.js';
import type { ReadablePage } from '../../../ports/store/skipped-documents.js';
import { DEPS } from '../deps.js';
import { LicenseService } from '../licenses/license-service.js';
import type { SeatLeaseDoc } from '../model/documents.js';
import { FloatingSeatService } from './floating-seats.js';
import type { AuditLog } from '../../../ports/domain/audit.js';

@injectable()
export class SeatAdministration {
  constructor(
    @inject(DEPS.leases) private readonly leases: Collection<SeatLeaseDoc>,
    @inject(DEPS.audit) private readonly audit: AuditLog,
    @inject(LicenseService) private readonly licenses: LicenseService,
    @inject(FloatingSeatService) private readonly seats: FloatingSeatService,
  ) {}

  /** @throws ServiceError not_found, insufficient_scope */
  async listPage(
    principal: Principal,
    license_id: string,
    query: { limit: number; cursor?: string | undefined },
  ): Promise<ReadablePage<SeatLeaseDoc> & { count: () => Promise<number> }> {
    const license = await this.licenses.getLicense(principal, license_id);
    return { ...(await this.seats.listPage(license.id, query)), count: () => this.seats.countUsed(license) };
  }

  /**
   * The machine may take another seat at its next validation.
   * @throws ServiceError not_found, insufficient_scope
   */
  async release(actor: Principal, license_id: string, id: string, reason?: string): Promise<SeatLeaseDoc> {
    await this.licenses.getLicense(actor, license_id);
    const lease = await this.leases.get(id);
    const known = lease?.license_id === license_id ? lease : null;
    const released = known === null ? null : await this.seats.releaseLease(known);
    if (known === null || released === null) throw notFound(`lease ${id.slice(0, 64)}`);
    if (known.seat_n !== undefined) {
      const { product, machine_id } = released;
      const shown = { before: { status: 'leased' }, after: { status: 'released' } };
      await this.audit.record(
        actor,
        'license.seat_released',
        license_id,
        { product, lease: id, machine_id, ...(reason && { reason }) },
        shown,
      );
    }
    return released;
  }
}
