import joi from 'joi';
import { Redirect, type HttpRequest } from '../../../kernel/contract/index.js';
import type { LicensingDeps } from '../deps.js';
import type { LicensingServices } from '../services.js';
import type { LicenseView } from '../model/view.js';

/** Members read; only administrators act or see a key (contract 10, roles). */
export const LICENSE_MEMBER_AUTH = { session: 'member' } as const;
export const LICENSE_ADMIN_AUTH = { session: 'admin' } as const;
export const LICENSES_TITLE = 'Licenses';
export const LICENSES_CRUMB = { label: LICENSES_TITLE, href: '/licenses' };
export const LICENSE_PAGE_SIZE = 50;
export const licenseIdParams = joi.object({ id: joi.string().guid().required() });

export interface LicensePageServices extends LicensingServices {
  deps: Pick<
    LicensingDeps,
    'audit' | 'projects' | 'throttle' | 'brands' | 'cipher' | 'clock' | 'licenses' | 'activations' | 'mail' | 'baseUrl'
  >;
}

/**
 * Lists by name.
 * @param archived their licenses still exist
 */
export async function listProducts(
  { deps }: Pick<LicensePageServices, 'deps'>,
  archived: boolean,
): Promise<{ value: string; label: string }[]> {
  return (await deps.projects.list())
    .filter((project) => archived || !project.archived)
    .map(({ slug, name }) => ({ value: slug, label: name }));
}

export const isAdmin = ({ principal }: HttpRequest): boolean =>
  principal.kind === 'session' && principal.role === 'admin';

export const redirectToLicense = (id: string, message: string): Redirect =>
  new Redirect(`/licenses/${id}`, { tone: 'success', message });

export const getIdParam = ({ params: { id = '' } }: HttpRequest): string => id;

const STATE_TONES: Readonly<Record<LicenseView['status'], string>> = {
  active: 'success',
  pending: 'warning',
  inactive: 'neutral',
  revoked: 'danger',
  expired: 'warning',
};

export const toShownLicense = (license: LicenseView): LicenseView & { tone: string; href: string; name: string } => ({
  ...license,
  tone: STATE_TONES[license.status],
  href: `/licenses/${license.id}`,
  name: license.licensee ?? license.email ?? license.client_ref ?? license.key.slice(-5),
});

const MACHINE_TONES: Readonly<Record<string, string>> = {
  active: 'success',
  pending: 'warning',
  blocked: 'danger',
  released: 'neutral',
};
export const getMachineTone = (status: string): string => MACHINE_TONES[status] ?? 'neutral';
