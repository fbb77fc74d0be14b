"use strict";
for (const head of document.querySelectorAll("th button")) {
  head.addEventListener("click", () => {
    const cell = head.parentElement;
    const up = cell.getAttribute("aria-sort") === "descending";
    for (const other of document.querySelectorAll("th")) other.removeAttribute("aria-sort");
    cell.setAttribute("aria-sort", up ? "ascending" : "descending");
    const body = document.querySelector("tbody");
    const valueOf = (row) => row.children[cell.cellIndex].dataset.value;
    const compare = (a, b) => (isNaN(a) || isNaN(b) || a === "" || b === "" ? a.localeCompare(b) : a - b);
    const rows = [...body.rows].sort((a, b) => {
      const [one, other] = [valueOf(a), valueOf(b)];
      if ((one === "") !== (other === "")) return one === "" ? 1 : -1;
      return (up ? 1 : -1) * compare(one, other);
    });
    body.append(...rows);
  });
}
