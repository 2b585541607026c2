/** Pages without a plugin; a plugin's page with the same path takes precedence. */
import type { MountedPage } from '../../../ports/http.js';
import { countsPage } from './counts.js';
import { homePage } from './home.js';
import { shownPage } from './once.js';
import { projectChoicePage } from './project-choice.js';
import { themePage } from './theme.js';
import type { PageServices } from './visitor.js';

export const ownPages = ({ navigation, forms, projects }: PageServices): MountedPage[] => [
  themePage(),
  homePage((role) => navigation.first(role)),
  countsPage((role) => navigation.for(role)),
  ...(forms ? [shownPage(forms)] : []),
  ...(projects ? [projectChoicePage(projects)] : []),
];
