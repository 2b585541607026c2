import type { MountedPage } from '../../../ports/http/index.js';
import { createCountsPage } from './navigation-counts.js';
import { createHomePage } from './home.js';
import { createShownPage } from './form-idempotency.js';
import { createProjectChoicePage } from './project-choice.js';
import { createSettingsPage } from './settings.js';
import { createThemePage } from './theme.js';
import type { PageServices } from './visitor.js';

export const createBuiltInPages = ({ navigation, forms, projects }: PageServices): MountedPage[] => [
  createThemePage(),
  createHomePage((role) => navigation.getFirstPath(role)),
  createCountsPage((role, path, project) => navigation.getView(role, path, project)),
  createSettingsPage((role) => navigation.getFirstSettingsPath(role)),
  ...(forms ? [createShownPage(forms)] : []),
  ...(projects ? [createProjectChoicePage(projects)] : []),
];
