PREFIX dcterms: <http://purl.org/dc/terms/>
DELETE { <> dcterms:date ?date }
INSERT { <> dcterms:date 1843 }
WHERE { <> dcterms:date ?date }
