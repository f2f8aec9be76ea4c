import { describe, expect, it } from "vitest";
import { asOneExpression } from "./expressions";

describe("expressions of the admin's templates", () => {
  it.each([
    ["open = !open", "open = !open"],
    ["toggleFavorite($event, index);", "toggleFavorite($event, index)"],
    ["openSearchResults = true; currentIndex = 0", "[openSearchResults = true, currentIndex = 0]"],
    ["say('a; b'); say([';'])", "[say('a; b'), say([';'])]"],
    ["say('it\\'s; fine')", "say('it\\'s; fine')"],
    [
      "open = false; if ($refs.field.value === '') { $refs.field.blur() } else { $refs.field.value = '' }",
      "[open = false, ($refs.field.value === '') ? [$refs.field.blur()] : [clearField($refs.field)]]",
    ],
    [
      "if (!$event.metaKey) selectItem(true, false)",
      "(!$event.metaKey) ? selectItem(true, false) : null",
    ],
    [
      "activeTab = ''; $watch('sidebarDesktopOpen', value => localStorage.setItem('sidebarDesktopOpen', value ? '1' : '0'));",
      "[activeTab = '', $watch('sidebarDesktopOpen', keepSidebar)]",
    ],
    ["", ""],
  ])("%s", (written, wanted) => expect(asOneExpression(written)).toBe(wanted));
});
