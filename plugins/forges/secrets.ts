/**
 * Shown once and stored sealed, because verifying signatures needs the secret itself (contract 20,
 * forges).
 */
import { randomBytes } from 'node:crypto';
import { collection, inject, injectable, PORT, type Principal } from '../../kernel/contract/index.js';
import { denied, notFound, requireProject } from '../../kernel/errors.js';
import { AUDIT, type AuditLog } from '../../ports/domain/audit.js';
import { PROJECTS, type ProjectDirectory, type ProjectInfo } from '../../ports/domain/projects.js';
import type { Cipher } from '../../ports/cipher.js';
import type { Clock } from '../../ports/clock.js';
import type { Collection, Doc } from '../../ports/store/index.js';

/** The document's id is the project's slug. */
export interface StoredForgeSecret extends Doc {
  /**
   * Project number: a later project with the same slug has another one and must not use this
   * secret.
   */
  number: number;
  secret: string;
  made_at: string;
  made_by: string;
}

const getSealPurpose = (project: ProjectInfo): string => `forges/secret/${project.slug}/${project.number}`;

@injectable()
export class ForgeSecretService {
  constructor(
    @inject(collection<StoredForgeSecret>('secrets')) private readonly rows: Collection<StoredForgeSecret>,
    @inject(PROJECTS) private readonly projects: ProjectDirectory,
    @inject(AUDIT) private readonly audit: AuditLog,
    @inject(PORT.cipher) private readonly cipher: Cipher,
    @inject(PORT.clock) private readonly clock: Clock,
  ) {}

  /** @throws ServiceError not_found, insufficient_scope */
  async createSecret(principal: Principal, slug: string): Promise<string> {
    // Signed deliveries resolve and comment items, which requires this scope.
    if (principal.kind === 'token' && !principal.scopes.includes('bugtracker:manage'))
      throw denied('A forge secret allows resolving items: creating one also requires bugtracker:manage.');
    const project = await this.#getProject(principal, slug);
    const secret = `whsec_${randomBytes(32).toString('base64')}`;
    const before = await this.getInfo(project);
    await this.rows.change(
      { id: slug },
      {
        set: {
          number: project.number,
          secret: this.cipher.seal(secret, getSealPurpose(project)),
          made_at: this.clock.iso(),
          made_by: getCallerName(principal),
        },
      },
      { upsert: true },
    );
    await this.audit.record(
      principal,
      'project.forge_secret_made',
      slug,
      {},
      { before: { forge_secret: before === null ? null : 'set' }, after: { forge_secret: 'set' } },
    );
    return secret;
  }

  async getInfo(project: ProjectInfo): Promise<Pick<StoredForgeSecret, 'made_at' | 'made_by'> | null> {
    const row = await this.rows.get(project.slug);
    return row !== null && row.number === project.number ? row : null;
  }

  countProjects(): Promise<number> {
    return this.rows.count({});
  }

  async openSecret(slug: string): Promise<string | null> {
    const [project, row] = await Promise.all([this.projects.get(slug), this.rows.get(slug)]);
    if (project === null || row === null || row.number !== project.number) return null;
    return this.cipher.open(row.secret, getSealPurpose(project));
  }

  async clear(slug: string): Promise<void> {
    await this.rows.remove({ id: slug });
  }

  async #getProject(principal: Principal, slug: string): Promise<ProjectInfo> {
    if (principal.kind === 'token') requireProject(principal.project, slug);
    const project = await this.projects.get(slug);
    if (project === null) throw notFound(`project ${slug.slice(0, 64)}`);
    return project;
  }
}

function getCallerName(principal: Principal): string {
  if (principal.kind === 'session') return principal.username;
  return principal.kind === 'token' ? `token ${principal.name}` : principal.kind;
}
