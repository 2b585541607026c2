/** By licensee, never by id. */
import type { AuditTargetResolver } from '../../../ports/domain/audit.js';
import type { LicensingDeps } from '../deps.js';

export const createLicenseTargets = ({ licenses }: Pick<LicensingDeps, 'licenses'>): AuditTargetResolver => ({
  noun: 'license',
  describe: async (id) => {
    const license = await licenses.get(id);
    if (license === null) return null;
    const { licensee, email, product } = license;
    return { name: `${licensee ?? email ?? 'without a name'} (${product})`, href: `/licenses/${id}` };
  },
});
