import type { StepContext } from '../../../ports/domain/dashboard.js';

export const buildFirstLicenseCommand = ({ baseUrl, project, token }: StepContext): string =>
  [
    `curl ${baseUrl}/api/license/v1/licenses \\`,
    `  -H "Authorization: Bearer ${token}" \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d '${JSON.stringify({ product: project, licensee: 'First customer' })}'`,
  ].join('\n');
