package dev.latchkey.release;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/** The poms agree on what is published. */
class BomIT {

    private List<String> managed = List.of();
    private List<String> published = List.of();

    @BeforeEach
    void readPoms() throws Exception {
        Element bom = pom("latchkey-bom");
        managed =
                texts((Element) bom.getElementsByTagName("dependencyManagement").item(0), "artifactId");
        published = new ArrayList<>();
        for (String module : texts(pom("."), "module")) {
            if (!texts(pom(module), "maven.deploy.skip").contains("true") && !module.equals("latchkey-bom")) {
                published.add(module);
            }
        }
    }

    @Test
    void givenModule_whenItIsPublished_thenTheBomHasIt() {
        assertThat(managed)
                .as("dependencies of latchkey-bom/pom.xml. A module that is not for others says maven.deploy.skip")
                .containsExactlyInAnyOrderElementsOf(published);
    }

    @Test
    void givenModule_whenItIsPublished_thenItIsChecked() {
        assertThat(Published.all())
                .as("dependencies of release-checks/pom.xml")
                .extracting(Published::artifactId)
                .containsExactlyInAnyOrderElementsOf(published);
    }

    /** The BOM has no parent that would keep them equal. */
    @Test
    void givenBom_thenItsVersionIsThatOfTheOthers() throws Exception {
        String version = texts(pom("latchkey-bom"), "version").get(0);

        assertThat(Published.all()).extracting(Published::version).containsOnly(version);
    }

    /** Those of a parent would be forced upon whoever imports it. */
    @Test
    void givenBom_thenItManagesNoVersionsOfOthers() throws Exception {
        Element bom = pom("latchkey-bom");

        assertThat(bom.getElementsByTagName("parent").getLength()).isZero();
        assertThat(texts(bom, "groupId")).containsOnly("dev.latchkey");
    }

    private static Element pom(String module) throws Exception {
        Path file = Published.ROOT.resolve(module).resolve("pom.xml");
        return DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(file.toFile())
                .getDocumentElement();
    }

    private static List<String> texts(Element element, String tag) {
        NodeList found = element.getElementsByTagName(tag);
        List<String> texts = new ArrayList<>();
        for (int i = 0; i < found.getLength(); i++) {
            texts.add(found.item(i).getTextContent());
        }
        return texts;
    }
}
