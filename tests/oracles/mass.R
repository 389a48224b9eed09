# R's MASS::lda and MASS::qda on the tables that make.py writes; prints one JSON object.
suppressMessages(library(MASS))
folder <- commandArgs(trailingOnly = TRUE)[1]

numbers <- function(m) {
  m <- unname(as.matrix(m))
  rows <- apply(m, 1, function(r) paste0("[", paste(sprintf("%.17g", r), collapse = ","), "]"))
  paste0("[", paste(rows, collapse = ","), "]")
}

out <- c()
for (file in list.files(folder, pattern = "\\.csv$")) {
  table <- read.csv(file.path(folder, file))
  y <- factor(table$y)
  x <- as.matrix(table[, names(table) != "y"])
  shown <- seq(1, nrow(x), by = 7)
  for (method in c("moment", "mle")) {
    for (kind in c("lda", "qda")) {
      fit <- tryCatch(
        if (kind == "lda") lda(x, y, method = method) else qda(x, y, method = method),
        error = function(e) NULL)
      if (is.null(fit)) next
      posterior <- predict(fit, x[shown, , drop = FALSE])$posterior
      entry <- sprintf('"posterior":%s,"means":%s', numbers(posterior), numbers(fit$means))
      if (kind == "lda") {
        share <- fit$svd^2 / sum(fit$svd^2)
        entry <- paste0(entry, sprintf(',"scaling":%s,"share":%s', numbers(abs(fit$scaling)), numbers(t(share))))
      }
      name <- sub("\\.csv$", "", file)
      out <- c(out, sprintf('"%s %s %s":{%s}', name, kind, method, entry))
    }
  }
}
cat("{", paste(out, collapse = ",\n"), "}\n", sep = "")
