/** Stored separately from projects, which every report reads (contract 80, pages). */
import {
  collection,
  inject,
  injectable,
  PORT,
  type Clock,
  type Collection,
  type Principal,
} from '../../../kernel/contract/index.js';
import { invalid } from '../../../kernel/errors.js';
import { readLogo } from '../../../lib/brand/logo.js';
import { BoundedMap } from '../../../lib/bounded-map.js';
import { findChangedFields } from '../../../lib/changed-fields.js';
import { cleanText } from '../../../lib/text/clean-text.js';
import { AUDIT, type AuditFields, type AuditLog } from '../../../ports/domain/audit.js';
import type { SellerBrand, SellerBrands } from '../../../ports/domain/projects.js';
import { toBrandView, toSellerBrand, type Brand, type BrandFields, type BrandView } from './brand.js';
import { ProjectService } from '../service.js';

const CACHE_MS = 1_000;
const MAX_COMPARED_PROJECTS = 50;

@injectable()
export class BrandService implements SellerBrands {
  /** Cached, because every public page view needs it. */
  readonly #recent = new BoundedMap<{ brand: SellerBrand | null }>({
    most: 1_000,
    ttlMs: CACHE_MS,
    now: () => this.clock.monotonic(),
  });

  constructor(
    @inject(collection<Brand>('brands')) private readonly rows: Collection<Brand>,
    @inject(ProjectService) private readonly projects: ProjectService,
    @inject(AUDIT) private readonly audit: AuditLog,
    @inject(PORT.clock) private readonly clock: Clock,
  ) {}

  find(slug: string): Promise<SellerBrand | null> {
    return this.#getCached(`of ${slug}`, async () => toSellerBrand(slug, await this.rows.get(slug)));
  }

  findCommon(): Promise<SellerBrand | null> {
    return this.#getCached('common', async () => {
      const { items } = await this.rows.find({ filter: { seller: { gt: '' } }, limit: MAX_COMPARED_PROJECTS + 1 });
      const [first] = items;
      const same =
        first !== undefined &&
        items.length <= MAX_COMPARED_PROJECTS &&
        items.every(({ seller }) => seller === first.seller);
      return same ? toSellerBrand(first.id, first) : null;
    });
  }

  async readLogo(slug: string): Promise<{ type: string; bytes: Buffer } | null> {
    const brand = await this.rows.get(slug);
    if (brand === null || brand.logo === null || brand.logo_type === null) return null;
    return { type: brand.logo_type, bytes: Buffer.from(brand.logo, 'base64') };
  }

  /** @throws ServiceError not_found, insufficient_scope */
  async getView(principal: Principal, slug: string): Promise<BrandView> {
    await this.projects.getProject(principal, slug);
    return toBrandView(slug, await this.rows.get(slug));
  }

  /**
   * @param logo null removes it
   * @throws ServiceError not_found, insufficient_scope, validation_failed
   */
  async change(actor: Principal, slug: string, given: BrandFields, logo?: Buffer | null): Promise<BrandView> {
    await this.projects.getProject(actor, slug);
    const read = logo ? readLogo(logo) : null;
    if (typeof read === 'string') throw invalid({ logo: read });
    const picture =
      logo === undefined ? {} : { logo_type: read?.type ?? null, logo: read?.bytes.toString('base64') ?? null };
    const set = {
      ...(given.seller !== undefined && { seller: cleanText(given.seller ?? '') }),
      ...(given.colour !== undefined && { colour: given.colour }),
      ...picture,
    };
    const before = await this.rows.get(slug);
    if (Object.keys(set).length === 0) return toBrandView(slug, before);
    const blank = { seller: '', colour: null, logo_type: null, logo: null };
    const setOnInsert = Object.fromEntries(Object.entries(blank).filter(([name]) => !(name in set)));
    const at = this.clock.iso();
    const changed = await this.rows.change(
      { id: slug },
      { set: { ...set, updated_at: at }, setOnInsert },
      { upsert: true },
    );
    this.#recent.clear();
    const after = toBrandView(slug, changed?.doc ?? null);
    const audited = (view: BrandView): AuditFields => ({
      seller: view.seller,
      colour: view.colour,
      logo: view.logo_type,
    });
    const names = Object.keys(set).filter((name) => name !== 'logo_type');
    const change = findChangedFields(audited(toBrandView(slug, before)), audited(after), names);
    await this.audit.record(actor, 'project.brand_changed', slug, {}, change);
    return after;
  }

  async #getCached(key: string, read: () => Promise<SellerBrand | null>): Promise<SellerBrand | null> {
    const known = this.#recent.get(key);
    if (known !== undefined) return known.brand;
    const brand = await read();
    this.#recent.set(key, { brand });
    return brand;
  }
}
