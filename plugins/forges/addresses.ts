import { FORGES, type Forge } from './verification.js';

const FORGE_NAMES: Readonly<Record<Forge, string>> = { github: 'GitHub', gitlab: 'GitLab', gitea: 'Gitea and Forgejo' };

export interface ForgeAddress {
  forge: Forge;
  name: string;
  url: string;
}

export const listForgeAddresses = (baseUrl: string, project: string): ForgeAddress[] =>
  FORGES.map((forge) => ({
    forge,
    name: FORGE_NAMES[forge],
    url: `${baseUrl.replace(/\/+$/, '')}/api/bugtracker/v1/forges/${forge}/${project}`,
  }));
