import { FORGES, type Forge } from './verification.js';

const NAMES: Readonly<Record<Forge, string>> = { github: 'GitHub', gitlab: 'GitLab', gitea: 'Gitea and Forgejo' };

export interface ForgeAddress {
  forge: Forge;
  name: string;
  url: string;
}

/** @param baseUrl `server.base_url` */
export const listForgeAddresses = (baseUrl: string, project: string): ForgeAddress[] =>
  FORGES.map((forge) => ({
    forge,
    name: NAMES[forge],
    url: `${baseUrl.replace(/\/+$/, '')}/api/bugtracker/v1/forges/${forge}/${project}`,
  }));
