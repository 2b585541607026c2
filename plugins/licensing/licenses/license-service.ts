/**
 * Every write compares the revision it was based on (contract 50). Changes of store access are
 * announced before and after, and access files are written before the response.
 */
import { findChangedFields } from '../../../lib/changed-fields.js';
import {
  inject,
  injectable,
  type Principal,
  type Collection,
  type Clock,
  type Ids,
} from '../../../kernel/contract/index.js';
import { conflict, notFound, owned } from '../../../kernel/errors.js';
import { LICENSE_CHANGED } from '../../../ports/domain/licensing.js';
import { StoreConflict, type Filter, type Update } from '../../../ports/store/index.js';
import { checkProductAccess, getCallerName, getTokenProduct } from '../model/caller.js';
import { DEPS, type LicensingConfig } from '../deps.js';
import type { LicenseDoc } from '../model/documents.js';
import { formatOutboxPosition } from '../../../lib/outbox.js';
import { LICENSE_OUTBOX, type LicensingOutbox } from '../outbox.js';
import type { LicenseFields, LicenseQuery, NewLicense } from '../model/fields.js';
import { KEY_PURPOSE, KeyHashService } from './key-hashes.js';
import { StoreAccessMarks } from './store-access-marks.js';
import { getDueTimes, buildLicenseEvent, createLicenseDoc, getRefKey, buildSearchText } from './new-license.js';
import { getNextState, createTransitionError, type LicenseTransition } from '../model/states.js';
import { formatEntitlements, getLicenseTerms } from '../model/terms.js';
import { toLicenseView, type LicenseView } from '../model/view.js';
import { LicenseChangeNotifier } from './change-notifier.js';
import { findReadable, type ReadablePage } from '../../../ports/store/skipped-documents.js';
import type { ProjectDirectory } from '../../../ports/domain/projects.js';
import type { AuditLog } from '../../../ports/domain/audit.js';
import type { Cipher } from '../../../ports/cipher.js';

/** Losing more often indicates a defect, not contention. */
const MAX_WRITE_ATTEMPTS = 20;
const AUDITED_FIELDS = [
  'status',
  'licensee',
  'email',
  'notes',
  'features',
  'max_activations',
  'require_approval',
  'expires_at',
  'floating',
  'lease_seconds',
  'overdraft',
  'grace_days',
  'entitlements',
];

const AUDIT_ACTIONS: Readonly<Record<LicenseTransition, string>> = {
  approve: 'approved',
  reject: 'rejected',
  deactivate: 'deactivated',
  reactivate: 'reactivated',
  revoke: 'revoked',
  extend: 'extended',
};

export interface CreatedLicense {
  license: LicenseView;
  key: string;
  created: boolean;
}

/**
 * From the license's current state.
 * @throws ServiceError
 */
type DecideChange = (license: LicenseDoc) => { set: Partial<LicenseDoc>; action: string } | null;

@injectable()
export class LicenseService {
  constructor(
    @inject(DEPS.licenses) private readonly licenses: Collection<LicenseDoc>,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.ids) private readonly ids: Ids,
    @inject(DEPS.cipher) private readonly cipher: Cipher,
    @inject(DEPS.audit) private readonly audit: AuditLog,
    @inject(DEPS.projects) private readonly projects: Pick<ProjectDirectory, 'get' | 'requireAccepting' | 'list'>,
    @inject(DEPS.config) private readonly config: LicensingConfig,
    @inject(KeyHashService) private readonly hashes: KeyHashService,
    @inject(StoreAccessMarks) private readonly marks: StoreAccessMarks,
    @inject(LicenseChangeNotifier) private readonly watchers: LicenseChangeNotifier,
    @inject(LICENSE_OUTBOX) private readonly outbox: LicensingOutbox<LicenseDoc>,
  ) {}

  /**
   * An existing `client_ref` returns its license unchanged.
   * @throws ServiceError unknown_project, insufficient_scope; conflict when the repeated order
   *   requests other seats
   */
  async create(actor: Principal, input: NewLicense): Promise<CreatedLicense> {
    await this.#checkProject(actor, input.product);
    const known = await this.#findByRef(input.product, input.client_ref ?? null);
    if (known !== null) return this.#returnExisting(known, input);
    const { doc, key } = createLicenseDoc(
      { clock: this.clock, ids: this.ids, cipher: this.cipher, config: this.config },
      getCallerName(actor),
      input,
    );
    doc.key_hash = await this.hashes.hash(key);
    delete doc.hash_due;
    try {
      await this.marks.runChange(() => this.licenses.insert(doc));
    } catch (error) {
      const winner = error instanceof StoreConflict ? await this.#findByRef(doc.product, doc.client_ref) : null;
      if (winner === null) throw error;
      return this.#returnExisting(winner, input);
    }
    await this.watchers.notify(doc.product);
    await this.#announceCreated(actor, doc);
    return { license: await this.#toView(doc, key), key, created: true };
  }

  /**
   * A key grants store access once it is hashed.
   * @throws as `create`
   */
  async createMany(actor: Principal, input: NewLicense, count: number): Promise<CreatedLicense[]> {
    await this.#checkProject(actor, input.product);
    const made = Array.from({ length: count }, () =>
      createLicenseDoc(
        { clock: this.clock, ids: this.ids, cipher: this.cipher, config: this.config },
        getCallerName(actor),
        input,
      ),
    );
    const results = await this.licenses.bulk(made.map(({ doc }) => ({ insert: doc })));
    const stored = made.filter((_, i) => results[i] !== undefined && 'n' in results[i]);
    for (const { doc } of stored) this.outbox.send(doc);
    await this.audit.record(actor, 'license.bulk_created', input.product, { count: stored.length });
    this.hashes.scheduleMissing();
    const ttl = await this.getCacheTtlHours(input.product);
    const now = this.clock.now();
    return stored.map(({ doc, key }) => ({ license: toLicenseView(doc, ttl, now, key), key, created: true }));
  }

  /** @throws ServiceError not_found, insufficient_scope */
  async getLicense(principal: Principal, id: string): Promise<LicenseDoc> {
    const license = await this.licenses.get(id);
    return owned(getTokenProduct(principal), license, ({ product }) => product, `license ${id.slice(0, 64)}`);
  }

  async getView(principal: Principal, id: string): Promise<LicenseView> {
    return this.#toView(await this.getLicense(principal, id));
  }

  /** Lists newest first. A token bound to a project sees only that project. */
  async listPage(
    principal: Principal,
    query: LicenseQuery,
  ): Promise<ReadablePage<LicenseView> & { count: () => Promise<number> }> {
    const filter = this.buildFilter(principal, query);
    const page = await findReadable(this.licenses, {
      filter,
      sort: [['created_at', 'desc']],
      limit: query.limit,
      after: query.cursor ?? null,
    });
    return { ...page, items: await this.toViews(page.items), count: () => this.licenses.count(filter) };
  }

  /** Lists active licenses that expire until a time, the next first. */
  async listExpiring(product: string, until: string, limit: number): Promise<LicenseView[]> {
    const filter = { product, expire_due: { gt: this.clock.iso(), lte: until } };
    const { items } = await findReadable(this.licenses, { filter, sort: [['expire_due', 'asc']], limit });
    return this.toViews(items);
  }

  buildFilter(principal: Principal, { q, status, product, client_ref, key_sha256 }: Partial<LicenseQuery>): Filter {
    const own = getTokenProduct(principal);
    const now = this.clock.iso();
    const filter: Filter = {
      ...(product !== undefined && { product }),
      ...(client_ref !== undefined && { client_ref }),
      ...(key_sha256 !== undefined && { key_sha256: key_sha256.toLowerCase() }),
      ...(q !== undefined && q.trim() !== '' && { search: { contains: q.trim().toLowerCase() } }),
    };
    if (own !== null) {
      if (product !== undefined && product !== own) checkProductAccess(principal, product);
      filter['product'] = own;
    }
    if (status === 'expired') return { ...filter, status: 'active', expires_at: { gt: '', lte: now } };
    if (status === 'active') return { ...filter, status, or: [{ expires_at: null }, { expires_at: { gt: now } }] };
    return status === undefined ? filter : { ...filter, status };
  }

  async toViews(docs: readonly LicenseDoc[]): Promise<LicenseView[]> {
    const now = this.clock.now();
    const ttls = new Map<string, number>();
    for (const { product } of docs) if (!ttls.has(product)) ttls.set(product, await this.getCacheTtlHours(product));
    return docs.map((doc) => toLicenseView(doc, ttls.get(doc.product) ?? 0, now));
  }

  /** @throws ServiceError not_found, insufficient_scope, final_state, invalid_transition */
  async applyTransition(
    actor: Principal,
    id: string,
    move: Exclude<LicenseTransition, 'extend'>,
    reason?: string,
  ): Promise<LicenseView> {
    const decide: DecideChange = ({ status }) => {
      const to = getNextState(status, move);
      if (to === null) throw createTransitionError(status, move);
      return { set: { status: to }, action: `license.${AUDIT_ACTIONS[move]}` };
    };
    return this.#updateWithRetry(
      actor,
      await this.getLicense(actor, id),
      decide,
      reason === undefined ? {} : { reason },
    );
  }

  /**
   * An earlier one is allowed.
   * @throws as `applyTransition`
   */
  async extend(actor: Principal, id: string, expires_at: string | null): Promise<LicenseView> {
    return this.#updateWithRetry(actor, await this.getLicense(actor, id), ({ status, ...license }) => {
      if (getNextState(status, 'extend') === null) throw createTransitionError(status, 'extend');
      return license.expires_at === expires_at ? null : { set: { expires_at }, action: 'license.extended' };
    });
  }

  /**
   * Payment providers repeat and reorder calls, so a time not later than the current expiry changes
   * nothing.
   * @throws as `applyTransition`
   */
  async extendByRef(actor: Principal, product: string, client_ref: string, expires_at: string): Promise<LicenseView> {
    checkProductAccess(actor, product);
    const license = await this.#findByRef(product, client_ref);
    if (license === null)
      throw notFound(`license with client_ref ${client_ref.slice(0, 64)} of ${product.slice(0, 64)}`);
    return this.#updateWithRetry(actor, license, ({ status, ...now }) => {
      if (getNextState(status, 'extend') === null) throw createTransitionError(status, 'extend');
      const later = now.expires_at !== null && now.expires_at < expires_at;
      return later ? { set: { expires_at }, action: 'license.extended' } : null;
    });
  }

  /** @throws ServiceError not_found, insufficient_scope, final_state */
  async update(actor: Principal, id: string, { features, entitlements, ...rest }: LicenseFields): Promise<LicenseView> {
    const fields = {
      ...rest,
      ...(features !== undefined && { features: JSON.stringify(features) }),
      ...(entitlements !== undefined && { entitlements: formatEntitlements(entitlements) }),
    };
    return this.#updateWithRetry(actor, await this.getLicense(actor, id), (license) => {
      if (license.status === 'revoked') throw createTransitionError('revoked', 'change');
      const given = Object.entries(fields).filter(([, value]) => value !== undefined);
      const current: Partial<LicenseDoc> = {
        ...license,
        ...getLicenseTerms(license),
        entitlements: license.entitlements ?? formatEntitlements([]),
      };
      const differs = ([name, value]: [string, unknown]): boolean => current[name as keyof LicenseDoc] !== value;
      const set = Object.fromEntries(given.filter(differs)) as Partial<LicenseDoc>;
      return Object.keys(set).length === 0 ? null : { set, action: 'license.changed' };
    });
  }

  /**
   * The audit log records who read it.
   * @throws ServiceError not_found, insufficient_scope
   */
  async reveal(actor: Principal, id: string): Promise<string> {
    const license = await this.getLicense(actor, id);
    await this.audit.record(actor, 'license.key_shown', id, { key: license.key_masked });
    return this.decryptKey(license);
  }

  decryptKey({ key_sealed }: Pick<LicenseDoc, 'key_sealed'>): string {
    return this.cipher.open(key_sealed, KEY_PURPOSE);
  }

  async getCacheTtlHours(product: string): Promise<number> {
    return (await this.projects.get(product))?.cache_ttl_hours ?? 0;
  }

  async #checkProject(actor: Principal, product: string): Promise<void> {
    checkProductAccess(actor, product);
    await this.projects.requireAccepting(product, 'licenses');
  }

  async #toView(doc: LicenseDoc, key?: string): Promise<LicenseView> {
    return toLicenseView(doc, await this.getCacheTtlHours(doc.product), this.clock.now(), key);
  }

  async #findByRef(product: string, client_ref: string | null): Promise<LicenseDoc | null> {
    if (client_ref === null) return null;
    const page = await this.licenses.find({ filter: { ref_key: getRefKey(product, client_ref) }, limit: 1 });
    return page.items[0] ?? null;
  }

  async #returnExisting(license: LicenseDoc, { max_activations }: NewLicense): Promise<CreatedLicense> {
    if (max_activations !== undefined && max_activations !== license.max_activations)
      throw conflict(
        `client_ref ${license.client_ref ?? ''} has ${license.max_activations ?? 'unlimited'} seats; change them with PATCH.`,
      );
    const key = this.decryptKey(license);
    return { license: await this.#toView(license, key), key, created: false };
  }

  async #announceCreated(actor: Principal, doc: LicenseDoc): Promise<void> {
    const { product, client_ref, key_masked } = doc;
    const details = { product, client_ref, key: key_masked };
    const { after: fields } = findChangedFields({}, doc, AUDITED_FIELDS);
    await this.audit.record(actor, 'license.created', doc.id, details, { before: {}, after: fields });
    this.outbox.send(doc);
  }

  async #updateWithRetry(
    actor: Principal,
    license: LicenseDoc,
    decide: DecideChange,
    details: Record<string, string> = {},
  ): Promise<LicenseView> {
    let before = license;
    for (let tries = 0; tries < MAX_WRITE_ATTEMPTS; tries++) {
      const decision = decide(before);
      if (decision === null) return this.#toView(before);
      const changed = await this.marks.runChange(() => this.#write(before, decision.set));
      if (changed !== null) {
        await this.watchers.notify(changed.product);
        const shown = findChangedFields(before, changed, Object.keys(decision.set));
        await this.audit.record(actor, decision.action, changed.id, { product: changed.product, ...details }, shown);
        this.outbox.send(changed);
        return this.#toView(changed);
      }
      const again = await this.licenses.get(before.id);
      if (again === null) throw notFound(`license ${before.id}`);
      before = again;
    }
    throw createTransitionError(before.status, 'change');
  }

  async #write(before: LicenseDoc, fields: Partial<LicenseDoc>): Promise<LicenseDoc | null> {
    const now = { ...before, ...fields };
    const entry = buildLicenseEvent({ clock: this.clock, ids: this.ids }, LICENSE_CHANGED.event, now);
    const dated = 'expires_at' in fields || 'status' in fields;
    const set = {
      ...fields,
      ...(dated && getDueTimes(now, this.config.expiring_days)),
      search: buildSearchText(now),
      updated_at: this.clock.iso(),
      rev: before.rev + 1,
      outbox_at: formatOutboxPosition(entry),
    };
    const update: Update = { set, push: { outbox: { each: [entry] } } };
    return (await this.licenses.change({ id: before.id, rev: before.rev }, update))?.doc ?? null;
  }
}
